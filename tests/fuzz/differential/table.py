"""Everything a graph grows by, with how often: families weigh as listed, their members as they say."""

from .families import blocks, control, index, layers, microsoft, pointwise, products, quantised, rows, shapes

FAMILIES = {"pointwise": (pointwise.FAMILY, 22), "rows": (rows.FAMILY, 13), "products": (products.FAMILY, 13),
            "shapes": (shapes.FAMILY, 22), "index": (index.FAMILY, 11), "quantised": (quantised.FAMILY, 6),
            "layers": (layers.FAMILY, 5), "microsoft": (microsoft.FAMILY, 5), "control": (control.FAMILY, 4),
            "blocks": (blocks.FAMILY, 5)}


def entries():
    for family, share in FAMILIES.values():
        total = sum(weight for _, weight, _ in family)
        for name, weight, construct in family:
            yield name, share * weight / total, construct


ENTRIES = list(entries())
