"""How is a server asked? Calls with patience and a pace, each answer kept until it is no longer wanted."""
