"""Executes a notebook in a real kernel and prints its cells as JSON: run_notebook.py FILE"""

import json
import sys

import nbclient
import nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
client = nbclient.NotebookClient(notebook, kernel_name="python3", allow_errors=True, timeout=300)
client.execute()
nbformat.write(notebook, sys.argv[1])
print(json.dumps([cell.get("outputs", []) for cell in notebook.cells]))
