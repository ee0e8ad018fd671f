"""pyqtgraph, set up for this program; it is imported in a thread first, since that takes long."""

import pyqtgraph as pg

# Its cleaning at exit destroys what Qt still needs; its limit of mouse moves drops the last one.
pg.setConfigOptions(exitCleanup=False, mouseRateLimit=0)

__all__ = ["pg"]
