"""The browser app: judging pages, the lead's dashboard and the JSON interface."""
