"""Where bytes come from: files, archives, compressions."""
