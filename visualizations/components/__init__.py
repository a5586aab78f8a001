"""Parts of the screen: `gr.HTML` subclasses, each with its JavaScript and CSS beside it."""
