"""Everything that Inspect finds by name. It loads this at every start, whatever is run, so that it has to be light.

A file that is named here has at its top, of ours, only `errors` and what holds the constants that are its defaults; all
else is imported in the body of the function that uses it. `as` says that a name is for others to import, which the type
checker holds us to: `from genie_inspect import cosine` knows cosine's options from here.
"""

from genie_inspect.inspect_private import refuse_unknown_options as _refuse_unknown_options
from genie_inspect.providers import bundled as bundled
from genie_inspect.providers import conformative as conformative
from genie_inspect.scorers.close_reading import close_reading as close_reading
from genie_inspect.scorers.coherence import coherence as coherence
from genie_inspect.scorers.compression import compression as compression
from genie_inspect.scorers.compression import compression_ratio as compression_ratio
from genie_inspect.scorers.cosine import cosine as cosine
from genie_inspect.scorers.creativity_index import creativity_index as creativity_index
from genie_inspect.scorers.document import document as document
from genie_inspect.scorers.expression_novelty import expression_novelty as expression_novelty
from genie_inspect.scorers.genie import genie as genie
from genie_inspect.scorers.litbench import litbench as litbench
from genie_inspect.scorers.novelty_bench import novelty_bench as novelty_bench
from genie_inspect.scorers.partition import partition as partition
from genie_inspect.scorers.ttcw import ttcw as _ttcw
from genie_inspect.solvers.generations import generations as generations
from genie_inspect.solvers.generations import plot_prompt as plot_prompt
from genie_inspect.solvers.generations import recorded as recorded
from genie_inspect.solvers.prompting_methods import negative_sampling as negative_sampling
from genie_inspect.solvers.prompting_methods import outline as outline
from genie_inspect.solvers.prompting_methods import trim as trim
from genie_inspect.solvers.prompting_methods import verbalized_sampling as verbalized_sampling
from genie_inspect.solvers.requirements import announce_cost as announce_cost
from genie_inspect.solvers.requirements import require_grader as require_grader
from genie_inspect.solvers.requirements import require_models as require_models
from genie_inspect.studies.personal.personal import personal as personal
from genie_inspect.tasks.leave_one_out import leave_one_out as leave_one_out
from genie_inspect.tasks.metric_study import metric_study as metric_study
from genie_inspect.tasks.novelty_partition import novelty_partition as novelty_partition
from genie_inspect.tasks.population_prompts import population_prompts as population_prompts
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts as synthetic_prompts
from genie_inspect.tasks.ttcw import ttcw as ttcw
from genie_inspect.tasks.ttcw_stories import ttcw_stories as ttcw_stories
from genie_inspect.tasks.writing_prompts import writing_prompts as writing_prompts

# ttcw is the name of the task
ttcw_scorer = _ttcw

_refuse_unknown_options(list(globals().values()))
