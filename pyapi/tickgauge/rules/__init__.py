"""Line rules: those of the user and the shipped ones."""
