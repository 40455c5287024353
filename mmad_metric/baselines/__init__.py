"""The methods that M-MAD is held against: GEMBA-MQM, EAPrompt, GEMBA-DA; a module each."""
