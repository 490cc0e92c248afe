"""Sessions that training runs in: monitored ones, supervisors, coordinators and hooks."""
