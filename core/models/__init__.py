"""The models that can be asked: endpoints, local models, replayed runs, and the labs' controls, behind one
interface.
"""
