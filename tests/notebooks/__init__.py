"""The notebook lanes: each notebook is stored, compared, run again, watched and weighed."""
