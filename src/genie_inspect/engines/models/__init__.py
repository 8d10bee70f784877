"""Models that run on this machine: rewards, classifiers, two models decoded together."""
