# Prints the verdict of every loop from the JSON report of `ridge place`.
import json
import subprocess

# One verdict per loop, in the order of the file.
output = subprocess.run(["ridge", "place", "12_place_my_loop.cpp", "--function", "blur", "--json"],
                        check=True, capture_output=True, text=True).stdout
report = json.loads(output)
for loop in report["loops"]:
    print(f"{loop['id']} line {loop['line']}, over {loop['iterator']}:",
          f"on the device, axis {loop['axis']}" if loop["placed"] else loop["why"] or loop["not_placed"],
          f"- reads {', '.join(loop['reads'])}, writes {', '.join(loop['writes'])}")
print("kernels:", ", ".join(kernel["name"] for kernel in report["kernels"]))
