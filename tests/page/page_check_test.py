"""Tests the page check: it must accept a correct page and reject each kind of broken one, in a real browser."""
import json
import os
import sys
import tempfile
import unittest

import browser
import page_check

DATA = {"devices": [{"name": "host", "copy": 41234567890.5, "share": 0.875, "count": 3}]}
PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>t</title></head><body>
<svg width="100" height="50"><path d="M0 0L90 40" stroke="black"/></svg>
<p><b data-key="devices.0.copy" data-value="41234567890.5">41.2 GB/s</b>
<b data-key="devices.0.share" data-value="0.875">87.5 %</b>
<b data-key="devices.0.count" data-value="3">3</b></p>
<script type="application/json" id="report-data">DATA</script>
<script>document.title = JSON.parse(document.getElementById('report-data').textContent).devices[0].name;</script>
</body></html>""".replace("DATA", json.dumps(DATA))


class PageCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(browser.Browser(browser.find()))
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())

    def problems(self, old="", new="", drawings=1, width=1280):
        if old:
            self.assertIn(old, PAGE)
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PAGE.replace(old, new, 1) if old else PAGE)
        return page_check.problems(self.browser, path, json.dumps(DATA), drawings, width)

    def expect(self, message, *change, **options):
        found = self.problems(*change, **options)
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_a_whole_page_passes(self):
        self.assertEqual(self.problems(), [])

    def test_console_error(self):
        self.expect("console error: broken 7", "</body>", "<script>console.error('broken', 7)</script></body>")

    def test_exception(self):
        self.expect("exception: ReferenceError", "</body>", "<script>nowhere()</script></body>")

    def test_late_exception(self):
        self.expect("exception: Error: late", "</body>", "<script>setTimeout(() => {throw Error('late')})</script></body>")

    def test_another_resource(self):
        found = self.problems("</body>", "<img src='missing.png'></body>")
        self.assertIn("asks for another resource", found[0])

    def test_no_drawing(self):
        self.expect("0 drawings", PAGE[PAGE.index("<svg"):PAGE.index("</svg>") + 6], "")

    def test_hidden_drawing(self):
        self.assertIn("0 drawings", self.problems("<svg", "<svg style='display: none'")[0])

    def test_empty_drawing(self):
        self.assertIn("0 drawings", self.problems('<path d="M0 0L90 40" stroke="black"/>', "")[0])

    def test_a_drawing_for_the_other_width(self):
        pair = ("<style>.narrow{display:none}@media(max-width:600px){.wide{display:none}.narrow{display:block}}</style>"
                "<div class='figure narrow'><svg width='90' height='9'><path d='M0 0L9 9' stroke='black'/></svg></div>")
        for width in (1280, 400):
            self.assertEqual(self.problems("<svg", pair + "<svg", drawings=1 if width > 600 else 2, width=width), [])

    def test_what_is_cut_off(self):
        page = PAGE.replace('<svg width="100"', "<svg width='700' aria-label='too wide'")
        path = os.path.join(self.folder, "wide.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page.replace("<head>", "<head><meta name='viewport' content='width=device-width,initial-scale=1'>"))
        self.assertEqual(page_check.problems(self.browser, path, json.dumps(DATA)), [])
        found = page_check.problems(self.browser, path, json.dumps(DATA), width=400)
        self.assertTrue(any("cut off at 400 pixels: svg too wide" in line for line in found), found)
        self.assertTrue(any("pixels wider than a window of 400" in line for line in found), found)

    def test_too_few_drawings(self):
        self.expect("1 drawings", drawings=2)

    def test_labels_that_overlap(self):
        self.expect("the labels 'left' and 'right' overlap", "</svg>",
                    "<text x='10' y='20'>left</text><text x='20' y='24'>right</text></svg>")

    def test_rotated_labels_are_compared_as_drawn(self):
        apart = "<text x='10' y='20'>left</text><text transform='translate(70 40) rotate(-60)'>up</text></svg>"
        self.assertEqual(self.problems("</svg>", apart), [])
        self.expect("overlap", "</svg>", apart.replace("translate(70 40)", "translate(14 24)"))

    def test_changed_number(self):
        self.expect("devices.0.copy is 41234567890.6", 'data-value="41234567890.5"', 'data-value="41234567890.6"')

    def test_changed_text(self):
        self.expect("the page shows '41.3 GB/s'", "41.2 GB/s", "41.3 GB/s")

    def test_wrong_unit(self):
        self.expect("the page shows '41.2 MB/s'", "41.2 GB/s", "41.2 MB/s")

    def test_unknown_key(self):
        self.expect("which the JSON does not have", "devices.0.share", "devices.1.share")

    def test_number_without_value(self):
        self.expect("which is not a number", ' data-value="3"', "")

    def test_changed_data(self):
        self.expect("not the JSON's", '"count": 3', '"count": 4')

    def test_no_data(self):
        found = self.problems('id="report-data"', 'id="other"')
        self.assertIn("the page has no report-data", found)

    def test_texts(self):
        for text, value in (("4.25 TB/s", 4.2512e12), ("12.3 us", 12.34e-6), ("227 KiB", 232448), ("−3", -3),
                            ("1,024", 1024), ("0.97", 0.9712), ("1.5e9", 1.5e9), ("2.10x", 2.1), ("64 kB", 64e3),
                            ("L1: 12 GB/s", 12e9), ("32.5 GB/s", 32.5), ("12 min", 700)):
            self.assertTrue(page_check.shows(text, value), text)
        for text, value in (("4.25 TB/s", 4.26e12), ("none", 0), ("12.3 ms", 12.3e-6), ("97 %", 97), ("3", -3)):
            self.assertFalse(page_check.shows(text, value), text)


if __name__ == "__main__":
    if browser.find() is None:
        print("skipped: no Chromium here (apt-get install chromium, or name one in RIDGE_CHROMIUM)")
        sys.exit(77)
    unittest.main(verbosity=2)
