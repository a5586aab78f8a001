"""Tab 5, "Lesson": twelve pages that lead through the app, each with one figure and one question."""
