"""AutoGraph: Python's `if`, `while`, `for` and their like over tensors become nodes.

`converting.converted` gives for a function one in which they are calls of `operators`: these look
at what comes, and either do what Python does or build `tf.cond` and `tf.while_loop`. So a function
without tensors in its conditions behaves as before. On the way: `source` finds the function's
syntax tree, `exits` makes `return`, `break` and `continue` the ends of branches, `statements` and
`expressions` replace what decides, `conversion` compiles the tree. What the function calls is
converted when it is called.

Source: TF 1.15 API documentation, tf.autograph.
"""
