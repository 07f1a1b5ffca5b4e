"""The picture that ocr.py reads: a photographed page of a printed manual, 384×191, uneven light.

It is `page.png` among the sample data of the scikit-image wheel, found without importing the
package.
"""

import importlib.util
import pathlib

from PIL import Image

# What stands on the page, line by line.
TEXT = (
    "Region-based segmentation",
    "Let us first determine markers of the coins and the",
    "background. These markers are pixels that we can label",
    "unambiguously as either object or background. Here,",
    "the markers are found at the two extreme parts of the",
    "histogram of grey values:",
    ">>> markers = np.zeros_like(coins)",
)


def page():
    """The picture, in RGB."""
    spec = importlib.util.find_spec("skimage")
    if spec is None:
        raise FileNotFoundError("scikit-image is not installed: run scripts/setup.sh")
    path = pathlib.Path(spec.submodule_search_locations[0]) / "data" / "page.png"
    return Image.open(path).convert("RGB")
