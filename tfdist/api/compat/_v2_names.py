"""Which names of version 1 stand in tf.compat.v2 as they are.

Source: what TF 1.15.5 lists in tf.compat.v2.
"""

# mypy: implicit-reexport

# Namespace in tf.compat.v2 -> names that are those of version 1's namespace (`HOMES`) as they are.
SAME = {
    "": """
        AggregationMethod Assert CriticalSection DType DeviceSpec GradientTape Graph IndexedSlices
        IndexedSlicesSpec Module Operation OptionalSpec RaggedTensor RaggedTensorSpec
        RegisterGradient SparseTensor SparseTensorSpec Tensor TensorArray TensorArraySpec
        TensorShape TensorSpec TypeSpec UnconnectedGradients VariableAggregation
        VariableSynchronization abs acos acosh add add_n argsort as_dtype as_string asin asinh atan
        atan2 atanh bfloat16 bitcast bool broadcast_dynamic_shape broadcast_static_shape
        broadcast_to case cast clip_by_global_norm clip_by_norm clip_by_value complex complex128
        complex64 constant constant_initializer control_dependencies cos cosh cumsum
        custom_gradient divide double dynamic_partition dynamic_stitch edit_distance einsum
        enable_v2_behavior ensure_shape equal executing_eagerly exp expand_dims
        extract_volume_patches eye fill fingerprint float16 float32 float64 floor foldl foldr
        function get_logger get_static_value grad_pass_through greater greater_equal group
        guarantee_const half histogram_fixed_width histogram_fixed_width_bins identity identity_n
        import_graph_def init_scope int16 int32 int64 int8 is_tensor less less_equal linspace
        load_library load_op_library logical_and logical_not logical_or make_ndarray
        make_tensor_proto map_fn matmul matrix_square_root maximum meshgrid minimum multiply
        name_scope negative newaxis no_gradient no_op norm not_equal numpy_function one_hot ones
        ones_initializer parallel_stack pow print py_function qint16 qint32 qint8 quint16 quint8
        range rank realdiv recompute_grad register_tensor_conversion_function repeat
        required_space_to_batch_paddings reshape resource reverse reverse_sequence roll round
        saturate_cast scalar_mul scan scatter_nd searchsorted sequence_mask shape_n sigmoid sign
        sin sinh slice sort space_to_batch_nd split sqrt square squeeze stack stop_gradient
        strided_slice string subtract switch_case tan tanh tensor_scatter_nd_add
        tensor_scatter_nd_sub tensor_scatter_nd_update tensordot tile timestamp truediv truncatediv
        truncatemod uint16 uint32 uint64 uint8 unique unique_with_counts unravel_index unstack
        variable_creator_scope variant vectorized_map zeros zeros_initializer
    """,
    "autograph": "set_verbosity trace",
    "autograph.experimental": "Feature do_not_convert set_loop_options",
    "compat": """
        as_bytes as_str as_str_any as_text bytes_or_text_types complex_types dimension_at_index
        dimension_value integral_types path_to_str real_types
    """,
    "bitwise": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
    "config": """
        experimental_list_devices experimental_run_functions_eagerly get_soft_device_placement
        set_soft_device_placement
    """,
    "config.experimental": """
        VirtualDeviceConfiguration get_device_policy get_memory_growth get_synchronous_execution
        get_virtual_device_configuration get_visible_devices list_logical_devices
        list_physical_devices set_device_policy set_memory_growth set_synchronous_execution
        set_virtual_device_configuration set_visible_devices
    """,
    "config.optimizer": "get_experimental_options get_jit set_experimental_options set_jit",
    "config.threading": """
        get_inter_op_parallelism_threads get_intra_op_parallelism_threads
        set_inter_op_parallelism_threads set_intra_op_parallelism_threads
    """,
    "data": """
        Dataset DatasetSpec FixedLengthRecordDataset Options TFRecordDataset TextLineDataset
    """,
    "data.experimental": """
        AUTOTUNE Counter CsvDataset DistributeOptions INFINITE_CARDINALITY OptimizationOptions
        Optional RandomDataset Reducer SqlDataset StatsOptions TFRecordWriter ThreadingOptions
        UNKNOWN_CARDINALITY bucket_by_sequence_length bytes_produced_stats cardinality
        choose_from_datasets copy_to_device dense_to_sparse_batch enumerate_dataset from_variant
        get_next_as_optional get_single_element get_structure group_by_reducer group_by_window
        ignore_errors latency_stats make_batched_features_dataset make_csv_dataset map_and_batch
        parallel_interleave parse_example_dataset prefetch_to_device rejection_resample
        sample_from_datasets scan shuffle_and_repeat take_while to_variant unbatch unique
    """,
    "debugging": """
        Assert assert_integer assert_proper_iterable assert_same_float_dtype assert_shapes
        assert_type check_numerics get_log_device_placement is_numeric_tensor
        set_log_device_placement
    """,
    "distribute": "Server",
    "dtypes": """
        DType QUANTIZED_DTYPES as_dtype bfloat16 bool cast complex complex128 complex64 double
        float16 float32 float64 half int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8
        resource saturate_cast string uint16 uint32 uint64 uint8 variant
    """,
    "errors": """
        ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS
        DEADLINE_EXCEEDED DataLossError DeadlineExceededError FAILED_PRECONDITION
        FailedPreconditionError INTERNAL INVALID_ARGUMENT InternalError InvalidArgumentError
        NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError PERMISSION_DENIED
        PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE
        UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError UnimplementedError UnknownError
    """,
    "feature_column": """
        bucketized_column categorical_column_with_hash_bucket categorical_column_with_identity
        categorical_column_with_vocabulary_list crossed_column embedding_column indicator_column
        make_parse_example_spec numeric_column weighted_categorical_column
    """,
    "graph_util": "import_graph_def",
    "image": """
        adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality
        adjust_saturation central_crop combined_non_max_suppression convert_image_dtype
        crop_to_bounding_box decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg
        decode_png encode_jpeg encode_png extract_jpeg_shape extract_patches flip_left_right
        flip_up_down grayscale_to_rgb hsv_to_rgb image_gradients is_jpeg non_max_suppression
        non_max_suppression_overlaps non_max_suppression_padded non_max_suppression_with_scores
        pad_to_bounding_box per_image_standardization psnr random_brightness random_contrast
        random_crop random_flip_left_right random_flip_up_down random_hue random_jpeg_quality
        random_saturation resize_with_crop_or_pad rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv
        rot90 sobel_edges ssim ssim_multiscale total_variation transpose yiq_to_rgb yuv_to_rgb
    """,
    "initializers": """
        Constant Identity Initializer Ones Orthogonal RandomNormal RandomUniform TruncatedNormal
        VarianceScaling Zeros constant deserialize get glorot_normal glorot_uniform he_normal
        he_uniform identity lecun_normal lecun_uniform ones orthogonal serialize zeros
    """,
    "io": """
        FixedLenFeature FixedLenSequenceFeature SparseFeature TFRecordOptions TFRecordWriter
        VarLenFeature decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed decode_gif
        decode_image decode_jpeg decode_json_example decode_png deserialize_many_sparse
        encode_base64 encode_jpeg extract_jpeg_shape is_jpeg match_filenames_once matching_files
        parse_sequence_example parse_single_sequence_example parse_tensor read_file
        serialize_tensor write_file write_graph
    """,
    "io.gfile": """
        GFile copy exists glob isdir listdir makedirs mkdir remove rename rmtree stat walk
    """,
    "keras": "Input Model Sequential",
    "keras.activations": """
        deserialize elu exponential get hard_sigmoid linear relu selu serialize sigmoid softmax
        softplus softsign tanh
    """,
    "keras.backend": """
        abs all any arange argmax argmin backend batch_dot batch_flatten batch_get_value
        batch_normalization batch_set_value bias_add binary_crossentropy cast cast_to_floatx
        categorical_crossentropy clear_session clip concatenate constant conv1d conv2d
        conv2d_transpose conv3d cos count_params ctc_batch_cost ctc_decode
        ctc_label_dense_to_sparse cumprod cumsum dot dropout dtype elu epsilon equal eval exp
        expand_dims eye flatten floatx foldl foldr function gather get_uid get_value gradients
        greater greater_equal hard_sigmoid image_data_format in_test_phase in_top_k in_train_phase
        int_shape is_sparse l2_normalize learning_phase learning_phase_scope less less_equal log
        manual_variable_initialization map_fn max maximum mean min minimum moving_average_update
        name_scope ndim normalize_batch_in_training not_equal one_hot ones ones_like
        permute_dimensions placeholder pool2d pool3d pow print_tensor prod random_binomial
        random_normal random_normal_variable random_uniform random_uniform_variable relu repeat
        repeat_elements reset_uids reshape resize_images resize_volumes reverse rnn round
        separable_conv2d set_epsilon set_floatx set_image_data_format set_learning_phase set_value
        shape sigmoid sign sin softmax softplus softsign sparse_categorical_crossentropy
        spatial_2d_padding spatial_3d_padding sqrt square squeeze stack std stop_gradient sum
        switch tanh temporal_padding tile to_dense transpose truncated_normal update update_add
        update_sub var variable zeros zeros_like
    """,
    "keras.callbacks": """
        BaseLogger CSVLogger Callback EarlyStopping History LambdaCallback LearningRateScheduler
        ModelCheckpoint ProgbarLogger ReduceLROnPlateau TerminateOnNaN
    """,
    "keras.constraints": """
        Constraint MaxNorm MinMaxNorm NonNeg UnitNorm deserialize get max_norm min_max_norm non_neg
        serialize unit_norm
    """,
    "keras.datasets.mnist": "load_data",
    "keras.initializers": """
        Constant Identity Initializer Ones Orthogonal RandomNormal RandomUniform TruncatedNormal
        VarianceScaling Zeros constant deserialize get glorot_normal glorot_uniform he_normal
        he_uniform identity lecun_normal lecun_uniform ones orthogonal serialize zeros
    """,
    "keras.layers": """
        AbstractRNNCell Activation ActivityRegularization Add AdditiveAttention AlphaDropout
        Attention Average AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D
        AvgPool3D BatchNormalization Bidirectional Concatenate Conv1D Conv2D Conv2DTranspose Conv3D
        Conv3DTranspose ConvLSTM2D Convolution1D Convolution2D Convolution2DTranspose Convolution3D
        Convolution3DTranspose Cropping1D Cropping2D Cropping3D Dense DepthwiseConv2D Dot Dropout
        ELU Embedding Flatten GaussianDropout GaussianNoise GlobalAveragePooling1D
        GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D
        GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D
        GlobalMaxPooling2D GlobalMaxPooling3D Input InputLayer InputSpec Lambda Layer
        LayerNormalization LeakyReLU Masking MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D
        MaxPooling3D Maximum Minimum Multiply PReLU Permute RNN ReLU RepeatVector Reshape
        SeparableConv1D SeparableConv2D SeparableConvolution1D SeparableConvolution2D SimpleRNN
        SimpleRNNCell Softmax SpatialDropout1D SpatialDropout2D SpatialDropout3D StackedRNNCells
        Subtract ThresholdedReLU TimeDistributed UpSampling1D UpSampling2D UpSampling3D Wrapper
        ZeroPadding1D ZeroPadding2D ZeroPadding3D add average concatenate deserialize dot maximum
        minimum multiply serialize subtract
    """,
    "keras.losses": """
        BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge Huber
        KLD KLDivergence LogCosh Loss MAE MAPE MSE MSLE MeanAbsoluteError
        MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson
        SparseCategoricalCrossentropy SquaredHinge binary_crossentropy categorical_crossentropy
        categorical_hinge cosine_similarity deserialize get hinge kld kullback_leibler_divergence
        logcosh mae mape mean_absolute_error mean_absolute_percentage_error mean_squared_error
        mean_squared_logarithmic_error mse msle poisson serialize sparse_categorical_crossentropy
        squared_hinge
    """,
    "keras.metrics": """
        AUC Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy
        CategoricalHinge CosineSimilarity FalseNegatives FalsePositives Hinge KLD KLDivergence
        LogCoshError MAE MAPE MSE MSLE Mean MeanAbsoluteError MeanAbsolutePercentageError MeanIoU
        MeanRelativeError MeanSquaredError MeanSquaredLogarithmicError MeanTensor Metric Poisson
        Precision Recall RootMeanSquaredError SensitivityAtSpecificity SparseCategoricalAccuracy
        SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity
        SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives binary_accuracy
        binary_crossentropy categorical_accuracy categorical_crossentropy deserialize get hinge kld
        kullback_leibler_divergence mae mape mean_absolute_error mean_absolute_percentage_error
        mean_squared_error mean_squared_logarithmic_error mse msle poisson serialize
        sparse_categorical_accuracy sparse_categorical_crossentropy
        sparse_top_k_categorical_accuracy squared_hinge top_k_categorical_accuracy
    """,
    "keras.models": """
        Model Sequential clone_model load_model model_from_config model_from_json save_model
    """,
    "keras.optimizers": """
        Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD deserialize get serialize
    """,
    "keras.optimizers.schedules": """
        ExponentialDecay InverseTimeDecay LearningRateSchedule PiecewiseConstantDecay
        PolynomialDecay deserialize serialize
    """,
    "keras.preprocessing.image": "ImageDataGenerator apply_affine_transform img_to_array",
    "keras.preprocessing.sequence": """
        TimeseriesGenerator make_sampling_table pad_sequences skipgrams
    """,
    "keras.preprocessing.text": "Tokenizer hashing_trick one_hot text_to_word_sequence",
    "keras.regularizers": "L1L2 Regularizer deserialize get l1 l1_l2 l2 serialize",
    "keras.utils": """
        CustomObjectScope Progbar Sequence custom_object_scope deserialize_keras_object
        get_custom_objects get_file model_to_dot multi_gpu_model normalize plot_model
        serialize_keras_object to_categorical
    """,
    "keras.wrappers.scikit_learn": "KerasClassifier KerasRegressor",
    "linalg": """
        LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorComposition
        LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorHouseholder
        LinearOperatorIdentity LinearOperatorInversion LinearOperatorKronecker
        LinearOperatorLowRankUpdate LinearOperatorLowerTriangular LinearOperatorScaledIdentity
        LinearOperatorToeplitz LinearOperatorZeros adjoint band_part cholesky cholesky_solve cross
        det diag diag_part eigh eigvalsh einsum expm eye global_norm inv l2_normalize logdet logm
        lstsq lu matmul matrix_rank matrix_transpose matvec norm normalize pinv qr set_diag slogdet
        solve sqrtm svd tensor_diag tensor_diag_part tensordot trace triangular_solve
        tridiagonal_matmul tridiagonal_solve
    """,
    "lookup": "KeyValueTensorInitializer TextFileIndex TextFileInitializer",
    "losses": """
        BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge Huber
        KLD KLDivergence LogCosh Loss MAE MAPE MSE MSLE MeanAbsoluteError
        MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson
        SparseCategoricalCrossentropy SquaredHinge binary_crossentropy categorical_crossentropy
        categorical_hinge cosine_similarity deserialize get hinge kld kullback_leibler_divergence
        logcosh mae mape mean_absolute_error mean_absolute_percentage_error mean_squared_error
        mean_squared_logarithmic_error mse msle poisson serialize sparse_categorical_crossentropy
        squared_hinge
    """,
    "math": """
        abs accumulate_n acos acosh add add_n angle asin asinh atan atan2 atanh bessel_i0
        bessel_i0e bessel_i1 bessel_i1e betainc bincount ceil conj cos cosh cumprod cumsum
        cumulative_logsumexp digamma divide divide_no_nan equal erf erfc exp expm1 floor floordiv
        floormod greater greater_equal igamma igammac imag invert_permutation is_finite is_inf
        is_nan is_non_decreasing is_strictly_increasing l2_normalize lbeta less less_equal lgamma
        log log1p log_sigmoid log_softmax logical_and logical_not logical_or logical_xor maximum
        minimum mod multiply multiply_no_nan negative nextafter not_equal polygamma polyval pow
        real reciprocal reciprocal_no_nan reduce_all reduce_any reduce_euclidean_norm
        reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum
        reduce_variance rint round rsqrt scalar_mul segment_max segment_mean segment_min
        segment_prod segment_sum sigmoid sign sin sinh softmax softplus softsign sqrt square
        squared_difference subtract tan tanh top_k truediv unsorted_segment_max
        unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
        unsorted_segment_sum xdivy xlogy zero_fraction zeta
    """,
    "metrics": """
        AUC Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy
        CategoricalHinge CosineSimilarity FalseNegatives FalsePositives Hinge KLD KLDivergence
        LogCoshError MAE MAPE MSE MSLE Mean MeanAbsoluteError MeanAbsolutePercentageError MeanIoU
        MeanRelativeError MeanSquaredError MeanSquaredLogarithmicError MeanTensor Metric Poisson
        Precision Recall RootMeanSquaredError SensitivityAtSpecificity SparseCategoricalAccuracy
        SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity
        SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives binary_accuracy
        binary_crossentropy categorical_accuracy categorical_crossentropy deserialize get hinge kld
        kullback_leibler_divergence mae mape mean_absolute_error mean_absolute_percentage_error
        mean_squared_error mean_squared_logarithmic_error mse msle poisson serialize
        sparse_categorical_accuracy sparse_categorical_crossentropy
        sparse_top_k_categorical_accuracy squared_hinge top_k_categorical_accuracy
    """,
    "nest": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    "nn": """
        all_candidate_sampler atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool3d
        batch_normalization bias_add collapse_repeated compute_accidental_hits conv1d_transpose
        conv_transpose ctc_greedy_decoder ctc_unique_labels depthwise_conv2d_backprop_filter
        depthwise_conv2d_backprop_input elu fixed_unigram_candidate_sampler l2_loss l2_normalize
        leaky_relu learned_unigram_candidate_sampler local_response_normalization log_poisson_loss
        log_softmax lrn max_pool1d max_pool2d max_pool3d normalize_moments relu relu6 selu sigmoid
        softmax softplus softsign swish tanh top_k weighted_cross_entropy_with_logits
        with_space_to_batch zero_fraction
    """,
    "optimizers": """
        Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD deserialize get serialize
    """,
    "optimizers.schedules": """
        ExponentialDecay InverseTimeDecay LearningRateSchedule PiecewiseConstantDecay
        PolynomialDecay deserialize serialize
    """,
    "quantization": """
        dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
        fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
        fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient
        quantize quantize_and_dequantize
    """,
    "queue": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "ragged": """
        boolean_mask constant map_flat_values range row_splits_to_segment_ids
        segment_ids_to_row_splits stack stack_dynamic_partitions
    """,
    "random": """
        all_candidate_sampler categorical fixed_unigram_candidate_sampler gamma
        learned_unigram_candidate_sampler log_uniform_candidate_sampler normal shuffle
        stateless_categorical stateless_normal stateless_truncated_normal stateless_uniform
        truncated_normal uniform uniform_candidate_sampler
    """,
    "random.experimental": """
        Generator create_rng_state get_global_generator set_global_generator
    """,
    "saved_model": """
        ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES
        CLASSIFY_OUTPUT_SCORES DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS
        PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS
        SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING TPU
        TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME contains_saved_model
    """,
    "sets": "difference intersection size union",
    "signal": """
        dct fft fft2d fft3d fftshift frame hamming_window hann_window idct ifft ifft2d ifft3d
        ifftshift inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d
        linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add rfft rfft2d
        rfft3d stft
    """,
    "sparse": """
        SparseTensor cross cross_hashed expand_dims eye fill_empty_rows from_dense mask maximum
        minimum reorder reset_shape reshape retain slice softmax sparse_dense_matmul to_dense
        to_indicator transpose
    """,
    "strings": """
        as_string bytes_split format join lower ngrams regex_full_match regex_replace strip
        to_hash_bucket_fast to_hash_bucket_strong unicode_decode unicode_decode_with_offsets
        unicode_encode unicode_split unicode_split_with_offsets unicode_transcode
        unsorted_segment_join upper
    """,
    "sysconfig": """
        CXX11_ABI_FLAG MONOLITHIC_BUILD get_compile_flags get_include get_lib get_link_flags
    """,
    "test": """
        Benchmark TestCase benchmark_config create_local_cluster gpu_device_name is_built_with_cuda
        is_built_with_gpu_support is_built_with_rocm is_gpu_available main
    """,
    "train": """
        BytesList CheckpointManager ClusterDef ClusterSpec Coordinator Example
        ExponentialMovingAverage Feature FeatureList FeatureLists Features FloatList Int64List
        JobDef SequenceExample ServerDef checkpoints_iterator get_checkpoint_state
        latest_checkpoint list_variables load_checkpoint load_variable
    """,
    "train.experimental": """
        DynamicLossScale FixedLossScale LossScale PythonState disable_mixed_precision_graph_rewrite
        enable_mixed_precision_graph_rewrite
    """,
    "version": """
        COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
        GRAPH_DEF_VERSION_MIN_PRODUCER VERSION
    """,
}

# Namespaces whose names version 1 has elsewhere.
HOMES = {
    "initializers": "keras.initializers",
    "losses": "keras.losses",
    "metrics": "keras.metrics",
    "optimizers": "keras.optimizers",
    "optimizers.schedules": "keras.optimizers.schedules",
}

# Namespace in tf.compat.v2 -> the module whose names stand in it, and nowhere in version 1.
OWN = {"image": "tfdist.ops.image.resize_images_v2"}
