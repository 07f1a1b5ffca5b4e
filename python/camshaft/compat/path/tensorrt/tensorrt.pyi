from camshaft import *
