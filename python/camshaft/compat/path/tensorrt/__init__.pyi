from camshaft import *

__version__: str
