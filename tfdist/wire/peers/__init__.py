"""The other processes as this one sees them: links, remote masters and workers."""
