"""The functions of tf.compat.v2 that take other arguments than those of version 1.

Source: the signatures that TF 1.15.5 tells.
"""

# mypy: implicit-reexport

# Namespace -> functions of version 1, each with the arguments of version 2 in their order, and its
# name there after `as`, where that is another. `a:b` is called b in version 1, `a=1` is 1 where it
# is not given, `a:=1` is always 1, `a!` has no default.
CALLS = {
    "": """
        argmax(input axis output_type name)
        argmin(input axis output_type name)
        assert_equal(x y message summarize name)
        assert_greater(x y message summarize name)
        assert_less(x y message summarize name)
        assert_rank(x rank message name)
        batch_to_space(input block_shape crops name)
        boolean_mask(tensor mask axis name)
        concat(values axis! name)
        cond(pred true_fn false_fn name)
        convert_to_tensor(value dtype dtype_hint name)
        device(device_name:name_or_function)
        gather(params indices validate_indices axis batch_dims name)
        gather_nd(params indices batch_dims name)
        gradients(ys xs grad_ys name gate_gradients aggregation_method stop_gradients
            unconnected_gradients)
        hessians(ys xs gate_gradients aggregation_method name)
        ones_like(input:tensor dtype name)
        pad(tensor paddings mode constant_values name)
        random_normal_initializer(mean stddev=0.05 seed)
        random_uniform_initializer(minval=-0.05 maxval=0.05 seed)
        reduce_all(input_tensor axis keepdims=False name)
        reduce_any(input_tensor axis keepdims=False name)
        reduce_logsumexp(input_tensor axis keepdims=False name)
        reduce_max(input_tensor axis keepdims=False name)
        reduce_mean(input_tensor axis keepdims=False name)
        reduce_min(input_tensor axis keepdims=False name)
        reduce_prod(input_tensor axis keepdims=False name)
        reduce_sum(input_tensor axis keepdims=False name)
        shape(input out_type name)
        size(input out_type name)
        space_to_batch(input block_shape paddings name)
        transpose(a perm conjugate name)
        tuple(tensors control_inputs name)
        where_v2(condition x y name) as where
        while_loop(cond body loop_vars shape_invariants parallel_iterations back_prop swap_memory
            maximum_iterations name return_same_structure:=True)
        zeros_like(input:tensor dtype name)
    """,
    "debugging": """
        assert_all_finite(x message name)
        assert_equal(x y message summarize name)
        assert_greater(x y message summarize name)
        assert_greater_equal(x y message summarize name)
        assert_less(x y message summarize name)
        assert_less_equal(x y message summarize name)
        assert_near(x y rtol atol message summarize name)
        assert_negative(x message summarize name)
        assert_non_negative(x message summarize name)
        assert_non_positive(x message summarize name)
        assert_none_equal(x y summarize message name)
        assert_positive(x message summarize name)
        assert_rank(x rank message name)
        assert_rank_at_least(x rank message name)
        assert_rank_in(x ranks message name)
        assert_scalar(tensor message name)
    """,
    "feature_column": """
        categorical_column_with_vocabulary_file(key vocabulary_file vocabulary_size dtype
            default_value num_oov_buckets)
    """,
    "image": """
        crop_and_resize(image boxes box_indices crop_size method extrapolation_value name)
        draw_bounding_boxes(images boxes colors name)
        extract_glimpse(input:input size offsets centered normalized noise=uniform name
            uniform_noise:=False)
    """,
    "io": """
        decode_csv(records record_defaults field_delim use_quote_delim na_value select_cols name)
        parse_example(serialized features example_names name)
        parse_single_example(serialized features example_names name)
        serialize_many_sparse(sp_input out_type name)
        serialize_sparse(sp_input out_type name)
    """,
    "math": """
        argmax(input axis output_type name)
        argmin(input axis output_type name)
        confusion_matrix(labels predictions num_classes weights dtype name)
        count_nonzero(input:input_tensor axis keepdims dtype name)
        in_top_k(targets predictions k name)
    """,
    "nn": """
        avg_pool2d(input ksize strides padding data_format name)
        avg_pool_v2(input ksize strides padding data_format name) as avg_pool
        batch_norm_with_global_normalization(input mean variance beta gamma variance_epsilon
            scale_after_normalization name)
        conv1d(input filters stride padding data_format dilations name)
        conv2d(input filters strides padding data_format dilations name)
        conv2d_transpose(input filters output_shape strides padding data_format dilations name)
        conv3d(input filters strides padding data_format dilations name)
        conv3d_transpose(input filters output_shape strides padding data_format dilations name)
        convolution(input filters strides padding=VALID data_format dilations name)
        crelu(features axis name)
        depth_to_space(input block_size data_format name)
        depthwise_conv2d(input filter strides padding data_format dilations name)
        dropout(x rate noise_shape seed name)
        embedding_lookup(params ids max_norm name partition_strategy:=div)
        embedding_lookup_sparse(params sp_ids sp_weights combiner max_norm name
            partition_strategy:=div)
        in_top_k(targets predictions k name)
        max_pool_v2(input ksize strides padding data_format name) as max_pool
        moments(x axes shift keepdims name)
        nce_loss(weights biases labels inputs num_sampled num_classes num_true sampled_values
            remove_accidental_hits name partition_strategy:=div)
        pool(input window_shape pooling_type strides padding=VALID data_format dilations name)
        safe_embedding_lookup_sparse(embedding_weights sparse_ids sparse_weights combiner
            default_id max_norm name)
        sampled_softmax_loss(weights biases labels inputs num_sampled num_classes num_true
            sampled_values remove_accidental_hits seed name partition_strategy:=div)
        separable_conv2d(input depthwise_filter pointwise_filter strides padding data_format
            dilations name)
        sigmoid_cross_entropy_with_logits(labels logits name)
        softmax_cross_entropy_with_logits_v2(labels logits axis name) as
            softmax_cross_entropy_with_logits
        space_to_batch(input block_shape paddings name)
        space_to_depth(input block_size data_format name)
        sparse_softmax_cross_entropy_with_logits(labels logits name)
        sufficient_statistics(x axes shift keepdims name)
        weighted_moments(x axes frequency_weights keepdims name)
    """,
    "random": """
        poisson(shape lam dtype seed name)
        set_random_seed(seed) as set_seed
    """,
    "sparse": """
        concat(axis sp_inputs expand_nonconcat_dims name)
        segment_mean(data indices segment_ids num_segments name)
        segment_sqrt_n(data indices segment_ids num_segments name)
        segment_sum(data indices segment_ids num_segments name)
        split(sp_input num_split axis name)
    """,
    "strings": """
        length(input unit name)
        reduce_join(inputs axis keepdims separator name)
        substr(input pos len unit name)
        to_hash_bucket(input num_buckets name)
        to_number(input out_type name)
    """,
}
