from camshaft import *
from camshaft.compat._loggers import ILogger as ILogger, Logger as Logger

__version__: str
