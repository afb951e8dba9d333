"""Compares every operator with OpenCV (like="opencv") and, if the conventions agree, with Pillow: random images of odd sizes, 8 bits,
16 bits and float, one and three channels. Skipped without cv2. `--report` prints the largest difference and the share of values
that differ."""
import sys

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
try:
    from PIL import Image, ImageFilter
except ImportError:
    Image = None

from ridge import image

REPORT = "--report" in sys.argv
failures = []
random = np.random.default_rng(7)


def pixels(rows, columns, channels, dtype):
    shape = (rows, columns) if channels == 1 else (rows, columns, channels)
    if dtype == np.float32:
        return random.uniform(-30, 250, shape).astype(np.float32)
    return random.integers(0, np.iinfo(dtype).max + 1, shape, dtype)


def compare(what, ours, theirs, allowed):
    if ours.shape != theirs.shape:
        failures.append(f"{what}: {ours.shape} and {theirs.shape}")
        return
    off = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    if REPORT:
        print(f"{what:55} largest {off.max():10.4g}   differing {100 * np.mean(off > 0):7.3f} %")
    if not off.max() <= allowed:
        failures.append(f"{what}: differs by {off.max():.4g}, allowed {allowed:g}")


def limit(dtype, whole, real=2e-3):
    return real if dtype == np.float32 else whole


def opencv(a):
    """(what, chain, OpenCV's answer, allowed difference) for one image."""
    dtype, rows, columns = a.dtype, a.shape[0], a.shape[1]
    kernel = random.uniform(-0.2, 0.3, (5, 3)).astype(np.float32)
    listed = ",".join(str(w) for w in kernel.ravel())
    yield "convolve", f"convolve 5x3 {listed}", cv2.filter2D(a, -1, kernel), limit(dtype, 0)
    for sigma in (0.7, 1.05, 1.2, 2):
        yield "gauss", f"gauss {sigma}", cv2.GaussianBlur(a, (0, 0), sigma), limit(dtype, 2)
    for side in (3, 4, 9):
        yield "box", f"box {side}", cv2.blur(a, (side, side)), limit(dtype, 1)
    for radius in (1, 2):
        yield "median", f"median {radius}", cv2.medianBlur(a, 2 * radius + 1), 0
    if dtype != np.uint16:
        yield "bilateral", "bilateral 3 2 30", cv2.bilateralFilter(a, 7, 30, 2), limit(dtype, 1)
    names = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC, "area": cv2.INTER_AREA}
    for name, flag in names.items():
        steps = 0 if name == "nearest" else 1
        for scale in (0.37, 0.5, 0.61, 1.05, 1.7, 2):
            if round(scale * min(rows, columns)) < 1:
                continue  # OpenCV rejects an empty result, Ridgeline returns one pixel
            yield "resize by scale", f"resize {scale} {name}", cv2.resize(a, None, fx=scale, fy=scale, interpolation=flag), \
                limit(dtype, steps, 0 if name == "nearest" else 2e-3)
        for size in ((columns // 2, rows // 3), (2 * columns + 1, 3 * rows), (2 * columns, rows // 2), (1, 1), (98, 34)):
            if min(size) < 1:
                continue
            yield "resize to a size", f"resize {size[0]}x{size[1]} {name}", cv2.resize(a, size, interpolation=flag), \
                limit(dtype, steps, 0 if name == "nearest" else 2e-3)
    for levels in (1, 2):
        down = a
        for _ in range(levels):
            down = cv2.pyrDown(down)
        yield "pyramid", f"pyramid {levels}", down, limit(dtype, levels)
    yield "integral", "integral", cv2.integral(a, sdepth=cv2.CV_64F), 1e-6
    yield "transpose", "transpose", cv2.transpose(a), 0
    yield "rotate 90", "rotate 90", cv2.rotate(a, cv2.ROTATE_90_COUNTERCLOCKWISE), 0
    yield "rotate 180", "rotate 180", cv2.rotate(a, cv2.ROTATE_180), 0
    yield "rotate -90", "rotate -90", cv2.rotate(a, cv2.ROTATE_90_CLOCKWISE), 0
    for angle in (1, 30, 45.5, -100, 200):
        matrix = cv2.getRotationMatrix2D(((columns - 1) / 2, (rows - 1) / 2), angle, 1)
        for name in ("nearest", "bilinear", "bicubic"):
            steps = 0 if name == "nearest" else 1
            yield "rotate", f"rotate {angle} {name}", cv2.warpAffine(a, matrix, (columns, rows), flags=names[name]), \
                limit(dtype, steps, 0 if name == "nearest" else 2e-3)
    if a.ndim == 3:
        yield "gray", "gray", cv2.cvtColor(a, cv2.COLOR_RGB2GRAY), limit(dtype, 1)
    else:
        for kind, sides in (("sobel", lambda *order: cv2.Sobel(a, cv2.CV_32F, *order, ksize=3)),
                            ("scharr", lambda *order: cv2.Scharr(a, cv2.CV_32F, *order)),
                            ("central", lambda *order: cv2.Sobel(a, cv2.CV_32F, *order, ksize=1))):
            both = np.stack([sides(1, 0), sides(0, 1)], axis=2)
            yield "gradient", f"gradient {kind}", both, limit(dtype, 0)


def against_opencv():
    for rows, columns in ((37, 53), (101, 67), (5, 7), (1, 9), (1, 1)):
        for channels in (1, 3):
            for dtype in (np.uint8, np.uint16, np.float32):
                a = pixels(rows, columns, channels, dtype)
                for what, chain, theirs, allowed in opencv(a):
                    if min(rows, columns) < 2 and what in ("pyramid", "bilateral"):
                        continue  # OpenCV rejects these, or uses another border
                    ours = image.apply(chain, a, like="opencv")
                    compare(f"{what}: {chain[:30]} of {columns}x{rows}x{channels} {a.dtype}", ours, theirs, allowed)


def against_pillow():
    """If OpenCV and Pillow have the same convention, it is the default."""
    for rows, columns in ((37, 53), (40, 30)):
        a = pixels(rows, columns, 1, np.uint8)
        picture = Image.fromarray(a)
        for radius in (1, 2):
            compare("Pillow's median", image.apply(f"median {radius}", a),
                    np.asarray(picture.filter(ImageFilter.MedianFilter(2 * radius + 1))), 0)
        for angle in (30, 200):
            # Compares which corners are black; pixels at the edge differ (Pillow does not blend with the fill).
            compare("Pillow's rotation: what is black", np.sign(image.apply(f"rotate {angle} nearest", a)),
                    np.sign(np.asarray(picture.rotate(angle))), 1 if (a == 0).any() else 0)
        colour = pixels(rows, columns, 3, np.uint8)
        compare("Pillow's gray", image.apply("gray", colour), np.asarray(Image.fromarray(colour).convert("L")), 1)
        for scale in (0.37, 0.5, 1.7):
            wanted = tuple(round(scale * side) for side in (rows, columns))
            if image.apply(f"resize {scale}", a).shape != wanted:
                failures.append(f"resize {scale} of {a.shape} is {image.apply(f'resize {scale}', a).shape}, Pillow's {wanted}")
        if image.apply("resize 31x17 area", a).shape != (17, 31):
            failures.append("a size is columns x rows")


against_opencv()
if Image is not None:
    against_pillow()
for failure in failures[:40]:
    print(failure)
sys.exit(1 if failures else 0)
