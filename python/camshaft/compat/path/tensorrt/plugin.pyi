from camshaft.plugin import *
