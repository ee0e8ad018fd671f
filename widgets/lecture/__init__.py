"""What a class and its presenter see, and the editor of a lecture."""
