"""Pure functions from data to plotly figures. No gradio: usable in a notebook as they are."""
