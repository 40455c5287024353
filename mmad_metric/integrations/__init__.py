"""Where the metric meets what others have built: training loops and data sets.

    from mmad_metric.integrations import trainer_metrics

Nothing heavy is imported before it is used.
"""

from mmad_metric.integrations.datasets import DatasetResult, rate_dataset
from mmad_metric.integrations.trainer import TrainerMetrics, trainer_metrics

__all__ = ["DatasetResult", "TrainerMetrics", "rate_dataset", "trainer_metrics"]
