import json
import subprocess

# The verdicts as data: one a loop, in the order of the file.
told = subprocess.run(["ridge", "place", "12_place_my_loop.cpp", "--function", "blur", "--json"],
                      check=True, capture_output=True, text=True).stdout
answer = json.loads(told)
for loop in answer["loops"]:
    print(f"{loop['id']} line {loop['line']}, over {loop['iterator']}:",
          f"on the device, axis {loop['axis']}" if loop["placed"] else loop["why"] or loop["not_placed"],
          f"- reads {', '.join(loop['reads'])}, writes {', '.join(loop['writes'])}")
print("kernels:", ", ".join(kernel["name"] for kernel in answer["kernels"]))
