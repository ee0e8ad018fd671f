"""Qt widgets that take data and emit signals: plots, machine map, forms, lesson pages."""
