"""TTCW's critic: rubrics, what it is asked, its verdicts and what comes of them."""
