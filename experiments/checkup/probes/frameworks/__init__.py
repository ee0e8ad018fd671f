from .experiment import EXPERIMENT as EXPERIMENT
