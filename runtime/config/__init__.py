"""The configuration: defaults, a TOML file, flags (`contract §1`).

`model` is what the service is given, `load` makes it. Of the file, `document` owns the types and `checks` the rules;
`problem` words what is wrong, `targets` finds the agents nobody configured. Nothing here starts or opens anything
but the file.
"""

from runtime.config.load import Flags, Surroundings, load_configuration
from runtime.config.model import Configuration, TargetConfiguration, TokenConfiguration
from runtime.config.problem import ConfigurationInvalid
from runtime.config.targets import ProgramFinder, ProgramsOnPath

__all__ = [
    "Configuration",
    "ConfigurationInvalid",
    "Flags",
    "ProgramFinder",
    "ProgramsOnPath",
    "Surroundings",
    "TargetConfiguration",
    "TokenConfiguration",
    "load_configuration",
]
