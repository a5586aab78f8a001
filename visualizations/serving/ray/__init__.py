"""The same models beyond this process: the page and any number of replicas as deployments of Ray Serve.

Ray is an extra (`requirements-ray.txt`). Only what is chosen with `--backend ray` imports this package.
"""
