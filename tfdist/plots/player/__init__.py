"""The step player: a placed graph that is played back; here its data and its stills."""
