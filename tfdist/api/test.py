"""tf.test: what a program asks of the devices that it runs on, and what its tests are made of."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.programs.benchmarks import (
        Benchmark,
        benchmark_config,
    )
    from tfdist.programs.stubs import (
        StubOutForTesting,
    )
    from tfdist.programs.testing import (
        TestCase,
        assert_equal_graph_def,
        create_local_cluster,
        get_temp_dir,
        is_built_with_rocm,
        main,
        mock,
        test_src_dir_path,
    )
    from tfdist.programs.testing_gradients import (
        compute_gradient,
        compute_gradient_error,
    )
    from tfdist.session.device_lib import (
        gpu_device_name,
        is_built_with_cuda,
        is_built_with_gpu_support,
        is_gpu_available,
    )

__getattr__, __dir__ = lazy(__name__, "tf.test")
