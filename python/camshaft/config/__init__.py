"""The settings of builds and runs, typed: in Python, in YAML and JSON files, and as flags of the command.

    config = BuildConfig.from_file("build.yaml")
    config = BuildConfig(precision="fp16", shapes={"x": (1, 3, 224, 224)})
    config.to_file("build.yaml")

A key that there is not, or a value that cannot be, raises :class:`ConfigError`, which names it. See
docs/configuration.md for what there is.
"""

from .base import ConfigError as ConfigError, Settings as Settings
from .build import BuildConfig as BuildConfig, Calibration as Calibration, Profile as Profile
from .inference import InferenceConfig as InferenceConfig
from .integrations import ProviderConfig as ProviderConfig, TorchConfig as TorchConfig, TritonConfig as TritonConfig
from .values import ShapeRange as ShapeRange
