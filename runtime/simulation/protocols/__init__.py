"""Small protocols between a few actors, each as a program that `explore` walks through all its schedules."""
