"""What `import tensorflow` finds in programs that a program under `tfdist run` starts."""

from tfdist.programs.stand_in import take_place

take_place()
