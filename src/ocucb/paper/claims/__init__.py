"""One module per statement, or per few that share their objects. Each lists its checks as CHECKS."""
