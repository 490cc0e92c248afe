"""A cluster of tfdist's servers on Kubernetes: the manifests that describe it.

Nothing here talks to Kubernetes: `kubectl apply` does. A cluster needs no exchange of addresses
there, since the pods of a StatefulSet have names that are known before they run.
"""
