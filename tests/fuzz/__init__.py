"""Pages as an attacker or a broken server might send them, and the road they all have to survive."""
