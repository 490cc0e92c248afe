"""SavedModels of estimators: exporters and receivers."""
