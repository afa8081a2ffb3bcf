"""Results in the forms that other tools show: trace viewers, continuous integration, dashboards."""
