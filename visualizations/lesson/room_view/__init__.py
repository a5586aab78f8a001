"""The room of a class on the page: what the teacher and the students see of it."""

from visualizations.lesson.room_view.component import Question, RoomView, build_room

__all__ = ["Question", "RoomView", "build_room"]
