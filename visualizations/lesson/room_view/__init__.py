"""The room of a class on the page: what the teacher and the students see of it."""

from visualizations.lesson.room_view.component import ClassQuestion, RoomView, build_room

__all__ = ["ClassQuestion", "RoomView", "build_room"]
