"""`tf.signal` and `tf.audio`: Fourier and cosine transforms, frames, mel spectra, WAV files."""
