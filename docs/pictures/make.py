#!/usr/bin/env python3
"""Draws the pictures of the documentation: docs/pictures/make.py [RIDGE]

Without an argument only the diagrams are drawn. With the path of the command `ridge` the pictures of computed data are drawn too
(about half a minute of one core). Every picture is an SVG file beside this script, 480 units wide, light or dark as the browser prefers.
"""
import os
import sys
import tempfile

import computed
import design_diagrams
import diagrams
import page_diagrams

for draw in diagrams.DIAGRAMS + design_diagrams.DIAGRAMS + page_diagrams.PAGES:
    draw().save()
if len(sys.argv) > 1:
    computed.command = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for draw in computed.COMPUTED:
            draw(folder).save()
