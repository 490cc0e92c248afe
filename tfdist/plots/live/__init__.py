"""What runs now: census, queues, and who waits for whom."""
