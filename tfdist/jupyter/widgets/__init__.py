"""The widgets in the kernel; what they are in the browser stands in `browser`."""
