"""What this crawl is told to do: ``order.json`` in the folder where it runs."""

import json
from pathlib import Path
from typing import Any

ORDER: dict[str, Any] = json.loads(Path("order.json").read_text())
