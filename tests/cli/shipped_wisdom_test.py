"""Tests packaging/ridge-wisdom.json: entries are complete, of this version, and name variants that plans still offer."""
import json
import os
import subprocess
import sys

ridge, file = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
entries = json.load(open(file))["entries"]
remake = "measure again (bench/gpu_wisdom.sh) or remove the entries"
assert len(entries) > 20, len(entries)
for entry in entries:
    assert entry["workload"] == "fft" and entry["device"] == "cuda:0 (NVIDIA H200)", entry
    assert entry["fingerprint"] == "cuda NVIDIA H200" and entry["winner"] and 1e-7 < entry["seconds"] < 1, entry
assert len({entry["version"] for entry in entries}) == 1

served = 0
for words in ("1024 --batch 16384", "1024", "4096 --batch 4096", "65536 --batch 256", "256 --batch 65536", "1000 --batch 16777", "--shape 1024x1024"):
    out = subprocess.run([ridge, "fft", "explain", *words.split(), "--quick", "--device", "recorded:h200"], check=True, capture_output=True,
                         text=True, env={**os.environ, "RIDGE_SHIPPED_WISDOM": file, "RIDGE_WISDOM": os.devnull}).stdout
    # Every choice of the plan comes from the file: a removed variant or a raised version would leave it to the model.
    assert "chosen by  shipped wisdom" in out, f"{words}: {remake}\n{out}"
    served += out.count("shipped wisdom")
print(f"{len(entries)} entries, {served} used")
