"""Everything a person sees. Imports specdec; specdec never imports this."""
