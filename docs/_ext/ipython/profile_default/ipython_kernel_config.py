"""What the tutorials are executed with: a kernel that speaks up only about errors."""

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.IPKernelApp.log_level = "ERROR"
