"""All training steps that are measured."""

import compiled_workloads
import small_workloads
import workloads

ALL = workloads.ALL | small_workloads.ALL | compiled_workloads.ALL
